// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package htmltext

// Style is the style sheet that all pages begin with: colours for light and dark, as variables, and what
// text, tables and links look like.
const Style = `
:root{color-scheme:light dark;--text:#1a1a1a;--paper:#fff;--dim:#595959;--line:#999;--soft:#e4e4e4;--grid:#e2e2e2;--base:#8a8a8a;--label:#444;--link:#0b57d0;--first:#0072b2;--second:#c04a00;--second-text:#8f3700;--bar:#4a9bd1;--room:#eef1f4}
@media (prefers-color-scheme:dark){:root{--text:#e6e6e6;--paper:#16181c;--dim:#aab2bd;--line:#6b747f;--soft:#343a42;--grid:#30363d;--base:#7d8590;--label:#b8c0ca;--link:#8ab4f8;--first:#58a6e8;--second:#ff9a55;--second-text:#ffb27d;--bar:#3d86bd;--room:#262c33}}
body{margin:0 auto;padding:0 1rem 3rem;font:15px/1.45 system-ui,sans-serif;color:var(--text);background:var(--paper)}
a{color:var(--link)}
table{border-collapse:collapse}
th,td{text-align:left;vertical-align:top}
th{border-bottom:1px solid var(--line);font-weight:600}
.n{text-align:right;font-variant-numeric:tabular-nums}
.dim{color:var(--dim)}
.wide{overflow-x:auto}
`
