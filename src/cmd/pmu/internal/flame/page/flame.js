(function () {
'use strict';
function id(name) { return document.getElementById(name); }
var graph = id('graph'), about = id('about'), query = id('query'), table = id('functions');
if (!graph) { return; }
var frames = Array.prototype.map.call(graph.children, function (e) {
	var s = e.style;
	return {e: e, x: parseFloat(s.left), w: parseFloat(s.width), name: e.title.split('\n')[0]};
});
var zoomed = frames[0];
function draw() {
	var z = zoomed, pixels = graph.clientWidth / 100;
	frames.forEach(function (f) {
		var from = Math.max((f.x - z.x) / z.w * 100, 0);
		var to = Math.min((f.x + f.w - z.x) / z.w * 100, 100);
		var w = to - from;
		f.e.className = f.e.className.replace(/ off/g, '') + (w > 0.001 ? '' : ' off');
		f.e.style.left = from + '%';
		f.e.style.width = w + '%';
		f.e.textContent = w * pixels > 28 ? f.name.replace(/^[^(\[ "]*\//, '') : '';
		f.e.style.paddingLeft = w * pixels > 28 ? '' : '0';
	});
}
function frameOf(e) {
	return frames.find(function (f) { return f.e === e; });
}
function find() {
	var q = query.value.trim().toLowerCase(), sum = 0, end = 0, n = 0;
	graph.classList.toggle('found', q !== '');
	frames.forEach(function (f, i) {
		var hit = q !== '' ? i > 0 ? f.name.toLowerCase().includes(q) : false : false;
		f.e.classList.toggle('hit', hit);
		if (hit) {
			n++;
			if (f.x > end - 0.001) { sum += f.w; end = f.x + f.w; }
		}
	});
	if (table) {
		Array.prototype.forEach.call(table.tBodies[0].rows, function (r) {
			r.hidden = q !== '' ? !r.cells[0].title.toLowerCase().includes(q) : false;
		});
	}
	id('found').textContent = q === '' ? '' : n + (n === 1 ? ' frame, ' : ' frames, ') + sum.toFixed(1) + ' % of the width';
}
graph.addEventListener('mouseover', function (ev) {
	if (frameOf(ev.target)) { about.textContent = ev.target.title; }
});
graph.addEventListener('click', function (ev) {
	var f = frameOf(ev.target);
	if (f) { zoomed = f; about.textContent = f.e.title; draw(); }
});
if (table) {
	table.addEventListener('click', function (ev) {
		var row = ev.target.closest('tbody tr');
		if (row) { query.value = row.cells[0].title; find(); graph.scrollIntoView(); }
	});
}
query.addEventListener('input', find);
id('find').addEventListener('submit', function (ev) { ev.preventDefault(); });
function reset() { zoomed = frames[0]; query.value = ''; find(); draw(); }
id('reset').addEventListener('click', reset);
document.addEventListener('keydown', function (ev) { if (ev.key === 'Escape') { reset(); } });
window.addEventListener('resize', draw);
id('find').hidden = false;
draw();
})();
