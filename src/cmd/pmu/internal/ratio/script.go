// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package ratio

// Colours are those of a diverging scale from blue to orange, which the colour-blind tell
// apart, light enough for dark text. Less of them is in the middle.
const style = `
body{max-width:1600px;overflow-wrap:anywhere}
h1{font-size:1.3rem;line-height:1.35;margin:1.2rem 0 .6rem}
h2{font-size:1.1rem;margin:2rem 0 .3rem}
p{margin:.4rem 0}
.dim{font-size:.87rem}
.note{border-left:3px solid var(--second);padding-left:.6rem}
td,th{padding:.15rem 1rem .15rem 0}
th{vertical-align:bottom}
.n{white-space:nowrap;overflow-wrap:normal}
th.n{white-space:normal}
#functions{width:100%}
#functions td:first-child{min-width:9rem;cursor:pointer}
#functions tr:hover td{background:var(--room)}
i{display:inline-block;width:.8rem;height:.8rem;margin-right:.35rem;border:1px solid var(--base);vertical-align:-.1rem;box-sizing:border-box}
.legend span{display:inline-block;margin-right:1rem;white-space:nowrap}
.c0{background:#6fb0e3}
.c1{background:#a3cdef}
.c2{background:#d3e6f7}
.c3{background:#fff5cc}
.c4{background:#fedcb0}
.c5{background:#fdb96f}
.c6{background:#f5933d}
.c7{background:#d6d6d6}
.c8{background:repeating-linear-gradient(135deg,#f7f7f7,#f7f7f7 4px,#e4e4e4 4px,#e4e4e4 6px)}
#graph{position:relative;overflow:hidden;margin:.5rem 0 0}
#graph div{position:absolute;height:19px;box-sizing:border-box;color:#1a1a1a;border:solid var(--paper);border-width:0 0 1px;box-shadow:inset 1px 0 rgba(0,0,0,.18);padding:0 0 0 3px;font-size:12px;line-height:18px;white-space:nowrap;overflow:hidden;text-overflow:ellipsis;cursor:pointer}
#graph div:hover{outline:2px solid var(--text);outline-offset:-2px}
#graph.found div{opacity:.35}
#graph.found .hit{opacity:1;font-weight:600;box-shadow:inset 0 -3px #1a1a1a}
#graph .off{display:none}
#about{position:sticky;bottom:0;white-space:pre-line;background:var(--room);border-top:1px solid var(--line);padding:.3rem .6rem;margin:.5rem 0;font-size:.87rem}
#about:empty{display:none}
form{margin:.8rem 0 0}
input,button{font:inherit;padding:.1rem .5rem}
input{width:min(18rem,50%);box-sizing:border-box}
@media (max-width:600px){td,th{padding-right:.6rem}}
`

// The script reads what it needs from the frames: places from their styles, names and numbers
// from their titles. It has no "<" and no "&", as the page is XML, too.
const script = `
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
		f.e.textContent = w * pixels > 28 ? f.name.replace(/^[^(\[]*\//, '') : '';
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
`

// scriptHash is the script's SHA-256, in base64.
const scriptHash = "sha256-j+oM0GSdl78iFWDuZx9qzS0Xy2cpYw+GBih/6PiOUOg="
