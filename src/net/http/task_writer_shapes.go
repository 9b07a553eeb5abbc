// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package http

// taskShapes has a constructor of a watched writer for each set of optional methods, by
// its bits: see taskShape. Which methods a type has is static, so each set needs a type.
var taskShapes = [...]func(w *taskWriter) ResponseWriter{
	0: func(w *taskWriter) ResponseWriter {
		return struct {
			*taskWriter
			*taskU
		}{w, (*taskU)(w)}
	},
	1: func(w *taskWriter) ResponseWriter {
		return struct {
			*taskWriter
			*taskU
			*taskF
		}{w, (*taskU)(w), (*taskF)(w)}
	},
	2: func(w *taskWriter) ResponseWriter {
		return struct {
			*taskWriter
			*taskU
			*taskE
		}{w, (*taskU)(w), (*taskE)(w)}
	},
	3: func(w *taskWriter) ResponseWriter {
		return struct {
			*taskWriter
			*taskU
			*taskF
			*taskE
		}{w, (*taskU)(w), (*taskF)(w), (*taskE)(w)}
	},
	4: func(w *taskWriter) ResponseWriter {
		return struct {
			*taskWriter
			*taskU
			*taskH
		}{w, (*taskU)(w), (*taskH)(w)}
	},
	5: func(w *taskWriter) ResponseWriter {
		return struct {
			*taskWriter
			*taskU
			*taskF
			*taskH
		}{w, (*taskU)(w), (*taskF)(w), (*taskH)(w)}
	},
	6: func(w *taskWriter) ResponseWriter {
		return struct {
			*taskWriter
			*taskU
			*taskE
			*taskH
		}{w, (*taskU)(w), (*taskE)(w), (*taskH)(w)}
	},
	7: func(w *taskWriter) ResponseWriter {
		return struct {
			*taskWriter
			*taskU
			*taskF
			*taskE
			*taskH
		}{w, (*taskU)(w), (*taskF)(w), (*taskE)(w), (*taskH)(w)}
	},
	8: func(w *taskWriter) ResponseWriter {
		return struct {
			*taskWriter
			*taskU
			*taskC
		}{w, (*taskU)(w), (*taskC)(w)}
	},
	9: func(w *taskWriter) ResponseWriter {
		return struct {
			*taskWriter
			*taskU
			*taskF
			*taskC
		}{w, (*taskU)(w), (*taskF)(w), (*taskC)(w)}
	},
	10: func(w *taskWriter) ResponseWriter {
		return struct {
			*taskWriter
			*taskU
			*taskE
			*taskC
		}{w, (*taskU)(w), (*taskE)(w), (*taskC)(w)}
	},
	11: func(w *taskWriter) ResponseWriter {
		return struct {
			*taskWriter
			*taskU
			*taskF
			*taskE
			*taskC
		}{w, (*taskU)(w), (*taskF)(w), (*taskE)(w), (*taskC)(w)}
	},
	12: func(w *taskWriter) ResponseWriter {
		return struct {
			*taskWriter
			*taskU
			*taskH
			*taskC
		}{w, (*taskU)(w), (*taskH)(w), (*taskC)(w)}
	},
	13: func(w *taskWriter) ResponseWriter {
		return struct {
			*taskWriter
			*taskU
			*taskF
			*taskH
			*taskC
		}{w, (*taskU)(w), (*taskF)(w), (*taskH)(w), (*taskC)(w)}
	},
	14: func(w *taskWriter) ResponseWriter {
		return struct {
			*taskWriter
			*taskU
			*taskE
			*taskH
			*taskC
		}{w, (*taskU)(w), (*taskE)(w), (*taskH)(w), (*taskC)(w)}
	},
	15: func(w *taskWriter) ResponseWriter {
		return struct {
			*taskWriter
			*taskU
			*taskF
			*taskE
			*taskH
			*taskC
		}{w, (*taskU)(w), (*taskF)(w), (*taskE)(w), (*taskH)(w), (*taskC)(w)}
	},
	16: func(w *taskWriter) ResponseWriter {
		return struct {
			*taskWriter
			*taskU
			*taskP
		}{w, (*taskU)(w), (*taskP)(w)}
	},
	17: func(w *taskWriter) ResponseWriter {
		return struct {
			*taskWriter
			*taskU
			*taskF
			*taskP
		}{w, (*taskU)(w), (*taskF)(w), (*taskP)(w)}
	},
	18: func(w *taskWriter) ResponseWriter {
		return struct {
			*taskWriter
			*taskU
			*taskE
			*taskP
		}{w, (*taskU)(w), (*taskE)(w), (*taskP)(w)}
	},
	19: func(w *taskWriter) ResponseWriter {
		return struct {
			*taskWriter
			*taskU
			*taskF
			*taskE
			*taskP
		}{w, (*taskU)(w), (*taskF)(w), (*taskE)(w), (*taskP)(w)}
	},
	20: func(w *taskWriter) ResponseWriter {
		return struct {
			*taskWriter
			*taskU
			*taskH
			*taskP
		}{w, (*taskU)(w), (*taskH)(w), (*taskP)(w)}
	},
	21: func(w *taskWriter) ResponseWriter {
		return struct {
			*taskWriter
			*taskU
			*taskF
			*taskH
			*taskP
		}{w, (*taskU)(w), (*taskF)(w), (*taskH)(w), (*taskP)(w)}
	},
	22: func(w *taskWriter) ResponseWriter {
		return struct {
			*taskWriter
			*taskU
			*taskE
			*taskH
			*taskP
		}{w, (*taskU)(w), (*taskE)(w), (*taskH)(w), (*taskP)(w)}
	},
	23: func(w *taskWriter) ResponseWriter {
		return struct {
			*taskWriter
			*taskU
			*taskF
			*taskE
			*taskH
			*taskP
		}{w, (*taskU)(w), (*taskF)(w), (*taskE)(w), (*taskH)(w), (*taskP)(w)}
	},
	24: func(w *taskWriter) ResponseWriter {
		return struct {
			*taskWriter
			*taskU
			*taskC
			*taskP
		}{w, (*taskU)(w), (*taskC)(w), (*taskP)(w)}
	},
	25: func(w *taskWriter) ResponseWriter {
		return struct {
			*taskWriter
			*taskU
			*taskF
			*taskC
			*taskP
		}{w, (*taskU)(w), (*taskF)(w), (*taskC)(w), (*taskP)(w)}
	},
	26: func(w *taskWriter) ResponseWriter {
		return struct {
			*taskWriter
			*taskU
			*taskE
			*taskC
			*taskP
		}{w, (*taskU)(w), (*taskE)(w), (*taskC)(w), (*taskP)(w)}
	},
	27: func(w *taskWriter) ResponseWriter {
		return struct {
			*taskWriter
			*taskU
			*taskF
			*taskE
			*taskC
			*taskP
		}{w, (*taskU)(w), (*taskF)(w), (*taskE)(w), (*taskC)(w), (*taskP)(w)}
	},
	28: func(w *taskWriter) ResponseWriter {
		return struct {
			*taskWriter
			*taskU
			*taskH
			*taskC
			*taskP
		}{w, (*taskU)(w), (*taskH)(w), (*taskC)(w), (*taskP)(w)}
	},
	29: func(w *taskWriter) ResponseWriter {
		return struct {
			*taskWriter
			*taskU
			*taskF
			*taskH
			*taskC
			*taskP
		}{w, (*taskU)(w), (*taskF)(w), (*taskH)(w), (*taskC)(w), (*taskP)(w)}
	},
	30: func(w *taskWriter) ResponseWriter {
		return struct {
			*taskWriter
			*taskU
			*taskE
			*taskH
			*taskC
			*taskP
		}{w, (*taskU)(w), (*taskE)(w), (*taskH)(w), (*taskC)(w), (*taskP)(w)}
	},
	31: func(w *taskWriter) ResponseWriter {
		return struct {
			*taskWriter
			*taskU
			*taskF
			*taskE
			*taskH
			*taskC
			*taskP
		}{w, (*taskU)(w), (*taskF)(w), (*taskE)(w), (*taskH)(w), (*taskC)(w), (*taskP)(w)}
	},
	32: func(w *taskWriter) ResponseWriter {
		return struct {
			*taskWriter
			*taskU
			*taskS
		}{w, (*taskU)(w), (*taskS)(w)}
	},
	33: func(w *taskWriter) ResponseWriter {
		return struct {
			*taskWriter
			*taskU
			*taskF
			*taskS
		}{w, (*taskU)(w), (*taskF)(w), (*taskS)(w)}
	},
	34: func(w *taskWriter) ResponseWriter {
		return struct {
			*taskWriter
			*taskU
			*taskE
			*taskS
		}{w, (*taskU)(w), (*taskE)(w), (*taskS)(w)}
	},
	35: func(w *taskWriter) ResponseWriter {
		return struct {
			*taskWriter
			*taskU
			*taskF
			*taskE
			*taskS
		}{w, (*taskU)(w), (*taskF)(w), (*taskE)(w), (*taskS)(w)}
	},
	36: func(w *taskWriter) ResponseWriter {
		return struct {
			*taskWriter
			*taskU
			*taskH
			*taskS
		}{w, (*taskU)(w), (*taskH)(w), (*taskS)(w)}
	},
	37: func(w *taskWriter) ResponseWriter {
		return struct {
			*taskWriter
			*taskU
			*taskF
			*taskH
			*taskS
		}{w, (*taskU)(w), (*taskF)(w), (*taskH)(w), (*taskS)(w)}
	},
	38: func(w *taskWriter) ResponseWriter {
		return struct {
			*taskWriter
			*taskU
			*taskE
			*taskH
			*taskS
		}{w, (*taskU)(w), (*taskE)(w), (*taskH)(w), (*taskS)(w)}
	},
	39: func(w *taskWriter) ResponseWriter {
		return struct {
			*taskWriter
			*taskU
			*taskF
			*taskE
			*taskH
			*taskS
		}{w, (*taskU)(w), (*taskF)(w), (*taskE)(w), (*taskH)(w), (*taskS)(w)}
	},
	40: func(w *taskWriter) ResponseWriter {
		return struct {
			*taskWriter
			*taskU
			*taskC
			*taskS
		}{w, (*taskU)(w), (*taskC)(w), (*taskS)(w)}
	},
	41: func(w *taskWriter) ResponseWriter {
		return struct {
			*taskWriter
			*taskU
			*taskF
			*taskC
			*taskS
		}{w, (*taskU)(w), (*taskF)(w), (*taskC)(w), (*taskS)(w)}
	},
	42: func(w *taskWriter) ResponseWriter {
		return struct {
			*taskWriter
			*taskU
			*taskE
			*taskC
			*taskS
		}{w, (*taskU)(w), (*taskE)(w), (*taskC)(w), (*taskS)(w)}
	},
	43: func(w *taskWriter) ResponseWriter {
		return struct {
			*taskWriter
			*taskU
			*taskF
			*taskE
			*taskC
			*taskS
		}{w, (*taskU)(w), (*taskF)(w), (*taskE)(w), (*taskC)(w), (*taskS)(w)}
	},
	44: func(w *taskWriter) ResponseWriter {
		return struct {
			*taskWriter
			*taskU
			*taskH
			*taskC
			*taskS
		}{w, (*taskU)(w), (*taskH)(w), (*taskC)(w), (*taskS)(w)}
	},
	45: func(w *taskWriter) ResponseWriter {
		return struct {
			*taskWriter
			*taskU
			*taskF
			*taskH
			*taskC
			*taskS
		}{w, (*taskU)(w), (*taskF)(w), (*taskH)(w), (*taskC)(w), (*taskS)(w)}
	},
	46: func(w *taskWriter) ResponseWriter {
		return struct {
			*taskWriter
			*taskU
			*taskE
			*taskH
			*taskC
			*taskS
		}{w, (*taskU)(w), (*taskE)(w), (*taskH)(w), (*taskC)(w), (*taskS)(w)}
	},
	47: func(w *taskWriter) ResponseWriter {
		return struct {
			*taskWriter
			*taskU
			*taskF
			*taskE
			*taskH
			*taskC
			*taskS
		}{w, (*taskU)(w), (*taskF)(w), (*taskE)(w), (*taskH)(w), (*taskC)(w), (*taskS)(w)}
	},
	48: func(w *taskWriter) ResponseWriter {
		return struct {
			*taskWriter
			*taskU
			*taskP
			*taskS
		}{w, (*taskU)(w), (*taskP)(w), (*taskS)(w)}
	},
	49: func(w *taskWriter) ResponseWriter {
		return struct {
			*taskWriter
			*taskU
			*taskF
			*taskP
			*taskS
		}{w, (*taskU)(w), (*taskF)(w), (*taskP)(w), (*taskS)(w)}
	},
	50: func(w *taskWriter) ResponseWriter {
		return struct {
			*taskWriter
			*taskU
			*taskE
			*taskP
			*taskS
		}{w, (*taskU)(w), (*taskE)(w), (*taskP)(w), (*taskS)(w)}
	},
	51: func(w *taskWriter) ResponseWriter {
		return struct {
			*taskWriter
			*taskU
			*taskF
			*taskE
			*taskP
			*taskS
		}{w, (*taskU)(w), (*taskF)(w), (*taskE)(w), (*taskP)(w), (*taskS)(w)}
	},
	52: func(w *taskWriter) ResponseWriter {
		return struct {
			*taskWriter
			*taskU
			*taskH
			*taskP
			*taskS
		}{w, (*taskU)(w), (*taskH)(w), (*taskP)(w), (*taskS)(w)}
	},
	53: func(w *taskWriter) ResponseWriter {
		return struct {
			*taskWriter
			*taskU
			*taskF
			*taskH
			*taskP
			*taskS
		}{w, (*taskU)(w), (*taskF)(w), (*taskH)(w), (*taskP)(w), (*taskS)(w)}
	},
	54: func(w *taskWriter) ResponseWriter {
		return struct {
			*taskWriter
			*taskU
			*taskE
			*taskH
			*taskP
			*taskS
		}{w, (*taskU)(w), (*taskE)(w), (*taskH)(w), (*taskP)(w), (*taskS)(w)}
	},
	55: func(w *taskWriter) ResponseWriter {
		return struct {
			*taskWriter
			*taskU
			*taskF
			*taskE
			*taskH
			*taskP
			*taskS
		}{w, (*taskU)(w), (*taskF)(w), (*taskE)(w), (*taskH)(w), (*taskP)(w), (*taskS)(w)}
	},
	56: func(w *taskWriter) ResponseWriter {
		return struct {
			*taskWriter
			*taskU
			*taskC
			*taskP
			*taskS
		}{w, (*taskU)(w), (*taskC)(w), (*taskP)(w), (*taskS)(w)}
	},
	57: func(w *taskWriter) ResponseWriter {
		return struct {
			*taskWriter
			*taskU
			*taskF
			*taskC
			*taskP
			*taskS
		}{w, (*taskU)(w), (*taskF)(w), (*taskC)(w), (*taskP)(w), (*taskS)(w)}
	},
	58: func(w *taskWriter) ResponseWriter {
		return struct {
			*taskWriter
			*taskU
			*taskE
			*taskC
			*taskP
			*taskS
		}{w, (*taskU)(w), (*taskE)(w), (*taskC)(w), (*taskP)(w), (*taskS)(w)}
	},
	59: func(w *taskWriter) ResponseWriter {
		return struct {
			*taskWriter
			*taskU
			*taskF
			*taskE
			*taskC
			*taskP
			*taskS
		}{w, (*taskU)(w), (*taskF)(w), (*taskE)(w), (*taskC)(w), (*taskP)(w), (*taskS)(w)}
	},
	60: func(w *taskWriter) ResponseWriter {
		return struct {
			*taskWriter
			*taskU
			*taskH
			*taskC
			*taskP
			*taskS
		}{w, (*taskU)(w), (*taskH)(w), (*taskC)(w), (*taskP)(w), (*taskS)(w)}
	},
	61: func(w *taskWriter) ResponseWriter {
		return struct {
			*taskWriter
			*taskU
			*taskF
			*taskH
			*taskC
			*taskP
			*taskS
		}{w, (*taskU)(w), (*taskF)(w), (*taskH)(w), (*taskC)(w), (*taskP)(w), (*taskS)(w)}
	},
	62: func(w *taskWriter) ResponseWriter {
		return struct {
			*taskWriter
			*taskU
			*taskE
			*taskH
			*taskC
			*taskP
			*taskS
		}{w, (*taskU)(w), (*taskE)(w), (*taskH)(w), (*taskC)(w), (*taskP)(w), (*taskS)(w)}
	},
	63: func(w *taskWriter) ResponseWriter {
		return struct {
			*taskWriter
			*taskU
			*taskF
			*taskE
			*taskH
			*taskC
			*taskP
			*taskS
		}{w, (*taskU)(w), (*taskF)(w), (*taskE)(w), (*taskH)(w), (*taskC)(w), (*taskP)(w), (*taskS)(w)}
	},
	64: func(w *taskWriter) ResponseWriter {
		return struct {
			*taskWriter
			*taskU
			*taskR
		}{w, (*taskU)(w), (*taskR)(w)}
	},
	65: func(w *taskWriter) ResponseWriter {
		return struct {
			*taskWriter
			*taskU
			*taskF
			*taskR
		}{w, (*taskU)(w), (*taskF)(w), (*taskR)(w)}
	},
	66: func(w *taskWriter) ResponseWriter {
		return struct {
			*taskWriter
			*taskU
			*taskE
			*taskR
		}{w, (*taskU)(w), (*taskE)(w), (*taskR)(w)}
	},
	67: func(w *taskWriter) ResponseWriter {
		return struct {
			*taskWriter
			*taskU
			*taskF
			*taskE
			*taskR
		}{w, (*taskU)(w), (*taskF)(w), (*taskE)(w), (*taskR)(w)}
	},
	68: func(w *taskWriter) ResponseWriter {
		return struct {
			*taskWriter
			*taskU
			*taskH
			*taskR
		}{w, (*taskU)(w), (*taskH)(w), (*taskR)(w)}
	},
	69: func(w *taskWriter) ResponseWriter {
		return struct {
			*taskWriter
			*taskU
			*taskF
			*taskH
			*taskR
		}{w, (*taskU)(w), (*taskF)(w), (*taskH)(w), (*taskR)(w)}
	},
	70: func(w *taskWriter) ResponseWriter {
		return struct {
			*taskWriter
			*taskU
			*taskE
			*taskH
			*taskR
		}{w, (*taskU)(w), (*taskE)(w), (*taskH)(w), (*taskR)(w)}
	},
	71: func(w *taskWriter) ResponseWriter {
		return struct {
			*taskWriter
			*taskU
			*taskF
			*taskE
			*taskH
			*taskR
		}{w, (*taskU)(w), (*taskF)(w), (*taskE)(w), (*taskH)(w), (*taskR)(w)}
	},
	72: func(w *taskWriter) ResponseWriter {
		return struct {
			*taskWriter
			*taskU
			*taskC
			*taskR
		}{w, (*taskU)(w), (*taskC)(w), (*taskR)(w)}
	},
	73: func(w *taskWriter) ResponseWriter {
		return struct {
			*taskWriter
			*taskU
			*taskF
			*taskC
			*taskR
		}{w, (*taskU)(w), (*taskF)(w), (*taskC)(w), (*taskR)(w)}
	},
	74: func(w *taskWriter) ResponseWriter {
		return struct {
			*taskWriter
			*taskU
			*taskE
			*taskC
			*taskR
		}{w, (*taskU)(w), (*taskE)(w), (*taskC)(w), (*taskR)(w)}
	},
	75: func(w *taskWriter) ResponseWriter {
		return struct {
			*taskWriter
			*taskU
			*taskF
			*taskE
			*taskC
			*taskR
		}{w, (*taskU)(w), (*taskF)(w), (*taskE)(w), (*taskC)(w), (*taskR)(w)}
	},
	76: func(w *taskWriter) ResponseWriter {
		return struct {
			*taskWriter
			*taskU
			*taskH
			*taskC
			*taskR
		}{w, (*taskU)(w), (*taskH)(w), (*taskC)(w), (*taskR)(w)}
	},
	77: func(w *taskWriter) ResponseWriter {
		return struct {
			*taskWriter
			*taskU
			*taskF
			*taskH
			*taskC
			*taskR
		}{w, (*taskU)(w), (*taskF)(w), (*taskH)(w), (*taskC)(w), (*taskR)(w)}
	},
	78: func(w *taskWriter) ResponseWriter {
		return struct {
			*taskWriter
			*taskU
			*taskE
			*taskH
			*taskC
			*taskR
		}{w, (*taskU)(w), (*taskE)(w), (*taskH)(w), (*taskC)(w), (*taskR)(w)}
	},
	79: func(w *taskWriter) ResponseWriter {
		return struct {
			*taskWriter
			*taskU
			*taskF
			*taskE
			*taskH
			*taskC
			*taskR
		}{w, (*taskU)(w), (*taskF)(w), (*taskE)(w), (*taskH)(w), (*taskC)(w), (*taskR)(w)}
	},
	80: func(w *taskWriter) ResponseWriter {
		return struct {
			*taskWriter
			*taskU
			*taskP
			*taskR
		}{w, (*taskU)(w), (*taskP)(w), (*taskR)(w)}
	},
	81: func(w *taskWriter) ResponseWriter {
		return struct {
			*taskWriter
			*taskU
			*taskF
			*taskP
			*taskR
		}{w, (*taskU)(w), (*taskF)(w), (*taskP)(w), (*taskR)(w)}
	},
	82: func(w *taskWriter) ResponseWriter {
		return struct {
			*taskWriter
			*taskU
			*taskE
			*taskP
			*taskR
		}{w, (*taskU)(w), (*taskE)(w), (*taskP)(w), (*taskR)(w)}
	},
	83: func(w *taskWriter) ResponseWriter {
		return struct {
			*taskWriter
			*taskU
			*taskF
			*taskE
			*taskP
			*taskR
		}{w, (*taskU)(w), (*taskF)(w), (*taskE)(w), (*taskP)(w), (*taskR)(w)}
	},
	84: func(w *taskWriter) ResponseWriter {
		return struct {
			*taskWriter
			*taskU
			*taskH
			*taskP
			*taskR
		}{w, (*taskU)(w), (*taskH)(w), (*taskP)(w), (*taskR)(w)}
	},
	85: func(w *taskWriter) ResponseWriter {
		return struct {
			*taskWriter
			*taskU
			*taskF
			*taskH
			*taskP
			*taskR
		}{w, (*taskU)(w), (*taskF)(w), (*taskH)(w), (*taskP)(w), (*taskR)(w)}
	},
	86: func(w *taskWriter) ResponseWriter {
		return struct {
			*taskWriter
			*taskU
			*taskE
			*taskH
			*taskP
			*taskR
		}{w, (*taskU)(w), (*taskE)(w), (*taskH)(w), (*taskP)(w), (*taskR)(w)}
	},
	87: func(w *taskWriter) ResponseWriter {
		return struct {
			*taskWriter
			*taskU
			*taskF
			*taskE
			*taskH
			*taskP
			*taskR
		}{w, (*taskU)(w), (*taskF)(w), (*taskE)(w), (*taskH)(w), (*taskP)(w), (*taskR)(w)}
	},
	88: func(w *taskWriter) ResponseWriter {
		return struct {
			*taskWriter
			*taskU
			*taskC
			*taskP
			*taskR
		}{w, (*taskU)(w), (*taskC)(w), (*taskP)(w), (*taskR)(w)}
	},
	89: func(w *taskWriter) ResponseWriter {
		return struct {
			*taskWriter
			*taskU
			*taskF
			*taskC
			*taskP
			*taskR
		}{w, (*taskU)(w), (*taskF)(w), (*taskC)(w), (*taskP)(w), (*taskR)(w)}
	},
	90: func(w *taskWriter) ResponseWriter {
		return struct {
			*taskWriter
			*taskU
			*taskE
			*taskC
			*taskP
			*taskR
		}{w, (*taskU)(w), (*taskE)(w), (*taskC)(w), (*taskP)(w), (*taskR)(w)}
	},
	91: func(w *taskWriter) ResponseWriter {
		return struct {
			*taskWriter
			*taskU
			*taskF
			*taskE
			*taskC
			*taskP
			*taskR
		}{w, (*taskU)(w), (*taskF)(w), (*taskE)(w), (*taskC)(w), (*taskP)(w), (*taskR)(w)}
	},
	92: func(w *taskWriter) ResponseWriter {
		return struct {
			*taskWriter
			*taskU
			*taskH
			*taskC
			*taskP
			*taskR
		}{w, (*taskU)(w), (*taskH)(w), (*taskC)(w), (*taskP)(w), (*taskR)(w)}
	},
	93: func(w *taskWriter) ResponseWriter {
		return struct {
			*taskWriter
			*taskU
			*taskF
			*taskH
			*taskC
			*taskP
			*taskR
		}{w, (*taskU)(w), (*taskF)(w), (*taskH)(w), (*taskC)(w), (*taskP)(w), (*taskR)(w)}
	},
	94: func(w *taskWriter) ResponseWriter {
		return struct {
			*taskWriter
			*taskU
			*taskE
			*taskH
			*taskC
			*taskP
			*taskR
		}{w, (*taskU)(w), (*taskE)(w), (*taskH)(w), (*taskC)(w), (*taskP)(w), (*taskR)(w)}
	},
	95: func(w *taskWriter) ResponseWriter {
		return struct {
			*taskWriter
			*taskU
			*taskF
			*taskE
			*taskH
			*taskC
			*taskP
			*taskR
		}{w, (*taskU)(w), (*taskF)(w), (*taskE)(w), (*taskH)(w), (*taskC)(w), (*taskP)(w), (*taskR)(w)}
	},
	96: func(w *taskWriter) ResponseWriter {
		return struct {
			*taskWriter
			*taskU
			*taskS
			*taskR
		}{w, (*taskU)(w), (*taskS)(w), (*taskR)(w)}
	},
	97: func(w *taskWriter) ResponseWriter {
		return struct {
			*taskWriter
			*taskU
			*taskF
			*taskS
			*taskR
		}{w, (*taskU)(w), (*taskF)(w), (*taskS)(w), (*taskR)(w)}
	},
	98: func(w *taskWriter) ResponseWriter {
		return struct {
			*taskWriter
			*taskU
			*taskE
			*taskS
			*taskR
		}{w, (*taskU)(w), (*taskE)(w), (*taskS)(w), (*taskR)(w)}
	},
	99: func(w *taskWriter) ResponseWriter {
		return struct {
			*taskWriter
			*taskU
			*taskF
			*taskE
			*taskS
			*taskR
		}{w, (*taskU)(w), (*taskF)(w), (*taskE)(w), (*taskS)(w), (*taskR)(w)}
	},
	100: func(w *taskWriter) ResponseWriter {
		return struct {
			*taskWriter
			*taskU
			*taskH
			*taskS
			*taskR
		}{w, (*taskU)(w), (*taskH)(w), (*taskS)(w), (*taskR)(w)}
	},
	101: func(w *taskWriter) ResponseWriter {
		return struct {
			*taskWriter
			*taskU
			*taskF
			*taskH
			*taskS
			*taskR
		}{w, (*taskU)(w), (*taskF)(w), (*taskH)(w), (*taskS)(w), (*taskR)(w)}
	},
	102: func(w *taskWriter) ResponseWriter {
		return struct {
			*taskWriter
			*taskU
			*taskE
			*taskH
			*taskS
			*taskR
		}{w, (*taskU)(w), (*taskE)(w), (*taskH)(w), (*taskS)(w), (*taskR)(w)}
	},
	103: func(w *taskWriter) ResponseWriter {
		return struct {
			*taskWriter
			*taskU
			*taskF
			*taskE
			*taskH
			*taskS
			*taskR
		}{w, (*taskU)(w), (*taskF)(w), (*taskE)(w), (*taskH)(w), (*taskS)(w), (*taskR)(w)}
	},
	104: func(w *taskWriter) ResponseWriter {
		return struct {
			*taskWriter
			*taskU
			*taskC
			*taskS
			*taskR
		}{w, (*taskU)(w), (*taskC)(w), (*taskS)(w), (*taskR)(w)}
	},
	105: func(w *taskWriter) ResponseWriter {
		return struct {
			*taskWriter
			*taskU
			*taskF
			*taskC
			*taskS
			*taskR
		}{w, (*taskU)(w), (*taskF)(w), (*taskC)(w), (*taskS)(w), (*taskR)(w)}
	},
	106: func(w *taskWriter) ResponseWriter {
		return struct {
			*taskWriter
			*taskU
			*taskE
			*taskC
			*taskS
			*taskR
		}{w, (*taskU)(w), (*taskE)(w), (*taskC)(w), (*taskS)(w), (*taskR)(w)}
	},
	107: func(w *taskWriter) ResponseWriter {
		return struct {
			*taskWriter
			*taskU
			*taskF
			*taskE
			*taskC
			*taskS
			*taskR
		}{w, (*taskU)(w), (*taskF)(w), (*taskE)(w), (*taskC)(w), (*taskS)(w), (*taskR)(w)}
	},
	108: func(w *taskWriter) ResponseWriter {
		return struct {
			*taskWriter
			*taskU
			*taskH
			*taskC
			*taskS
			*taskR
		}{w, (*taskU)(w), (*taskH)(w), (*taskC)(w), (*taskS)(w), (*taskR)(w)}
	},
	109: func(w *taskWriter) ResponseWriter {
		return struct {
			*taskWriter
			*taskU
			*taskF
			*taskH
			*taskC
			*taskS
			*taskR
		}{w, (*taskU)(w), (*taskF)(w), (*taskH)(w), (*taskC)(w), (*taskS)(w), (*taskR)(w)}
	},
	110: func(w *taskWriter) ResponseWriter {
		return struct {
			*taskWriter
			*taskU
			*taskE
			*taskH
			*taskC
			*taskS
			*taskR
		}{w, (*taskU)(w), (*taskE)(w), (*taskH)(w), (*taskC)(w), (*taskS)(w), (*taskR)(w)}
	},
	111: func(w *taskWriter) ResponseWriter {
		return struct {
			*taskWriter
			*taskU
			*taskF
			*taskE
			*taskH
			*taskC
			*taskS
			*taskR
		}{w, (*taskU)(w), (*taskF)(w), (*taskE)(w), (*taskH)(w), (*taskC)(w), (*taskS)(w), (*taskR)(w)}
	},
	112: func(w *taskWriter) ResponseWriter {
		return struct {
			*taskWriter
			*taskU
			*taskP
			*taskS
			*taskR
		}{w, (*taskU)(w), (*taskP)(w), (*taskS)(w), (*taskR)(w)}
	},
	113: func(w *taskWriter) ResponseWriter {
		return struct {
			*taskWriter
			*taskU
			*taskF
			*taskP
			*taskS
			*taskR
		}{w, (*taskU)(w), (*taskF)(w), (*taskP)(w), (*taskS)(w), (*taskR)(w)}
	},
	114: func(w *taskWriter) ResponseWriter {
		return struct {
			*taskWriter
			*taskU
			*taskE
			*taskP
			*taskS
			*taskR
		}{w, (*taskU)(w), (*taskE)(w), (*taskP)(w), (*taskS)(w), (*taskR)(w)}
	},
	115: func(w *taskWriter) ResponseWriter {
		return struct {
			*taskWriter
			*taskU
			*taskF
			*taskE
			*taskP
			*taskS
			*taskR
		}{w, (*taskU)(w), (*taskF)(w), (*taskE)(w), (*taskP)(w), (*taskS)(w), (*taskR)(w)}
	},
	116: func(w *taskWriter) ResponseWriter {
		return struct {
			*taskWriter
			*taskU
			*taskH
			*taskP
			*taskS
			*taskR
		}{w, (*taskU)(w), (*taskH)(w), (*taskP)(w), (*taskS)(w), (*taskR)(w)}
	},
	117: func(w *taskWriter) ResponseWriter {
		return struct {
			*taskWriter
			*taskU
			*taskF
			*taskH
			*taskP
			*taskS
			*taskR
		}{w, (*taskU)(w), (*taskF)(w), (*taskH)(w), (*taskP)(w), (*taskS)(w), (*taskR)(w)}
	},
	118: func(w *taskWriter) ResponseWriter {
		return struct {
			*taskWriter
			*taskU
			*taskE
			*taskH
			*taskP
			*taskS
			*taskR
		}{w, (*taskU)(w), (*taskE)(w), (*taskH)(w), (*taskP)(w), (*taskS)(w), (*taskR)(w)}
	},
	119: func(w *taskWriter) ResponseWriter {
		return struct {
			*taskWriter
			*taskU
			*taskF
			*taskE
			*taskH
			*taskP
			*taskS
			*taskR
		}{w, (*taskU)(w), (*taskF)(w), (*taskE)(w), (*taskH)(w), (*taskP)(w), (*taskS)(w), (*taskR)(w)}
	},
	120: func(w *taskWriter) ResponseWriter {
		return struct {
			*taskWriter
			*taskU
			*taskC
			*taskP
			*taskS
			*taskR
		}{w, (*taskU)(w), (*taskC)(w), (*taskP)(w), (*taskS)(w), (*taskR)(w)}
	},
	121: func(w *taskWriter) ResponseWriter {
		return struct {
			*taskWriter
			*taskU
			*taskF
			*taskC
			*taskP
			*taskS
			*taskR
		}{w, (*taskU)(w), (*taskF)(w), (*taskC)(w), (*taskP)(w), (*taskS)(w), (*taskR)(w)}
	},
	122: func(w *taskWriter) ResponseWriter {
		return struct {
			*taskWriter
			*taskU
			*taskE
			*taskC
			*taskP
			*taskS
			*taskR
		}{w, (*taskU)(w), (*taskE)(w), (*taskC)(w), (*taskP)(w), (*taskS)(w), (*taskR)(w)}
	},
	123: func(w *taskWriter) ResponseWriter {
		return struct {
			*taskWriter
			*taskU
			*taskF
			*taskE
			*taskC
			*taskP
			*taskS
			*taskR
		}{w, (*taskU)(w), (*taskF)(w), (*taskE)(w), (*taskC)(w), (*taskP)(w), (*taskS)(w), (*taskR)(w)}
	},
	124: func(w *taskWriter) ResponseWriter {
		return struct {
			*taskWriter
			*taskU
			*taskH
			*taskC
			*taskP
			*taskS
			*taskR
		}{w, (*taskU)(w), (*taskH)(w), (*taskC)(w), (*taskP)(w), (*taskS)(w), (*taskR)(w)}
	},
	125: func(w *taskWriter) ResponseWriter {
		return struct {
			*taskWriter
			*taskU
			*taskF
			*taskH
			*taskC
			*taskP
			*taskS
			*taskR
		}{w, (*taskU)(w), (*taskF)(w), (*taskH)(w), (*taskC)(w), (*taskP)(w), (*taskS)(w), (*taskR)(w)}
	},
	126: func(w *taskWriter) ResponseWriter {
		return struct {
			*taskWriter
			*taskU
			*taskE
			*taskH
			*taskC
			*taskP
			*taskS
			*taskR
		}{w, (*taskU)(w), (*taskE)(w), (*taskH)(w), (*taskC)(w), (*taskP)(w), (*taskS)(w), (*taskR)(w)}
	},
	127: func(w *taskWriter) ResponseWriter {
		return struct {
			*taskWriter
			*taskU
			*taskF
			*taskE
			*taskH
			*taskC
			*taskP
			*taskS
			*taskR
		}{w, (*taskU)(w), (*taskF)(w), (*taskE)(w), (*taskH)(w), (*taskC)(w), (*taskP)(w), (*taskS)(w), (*taskR)(w)}
	},
}
