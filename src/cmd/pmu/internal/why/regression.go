// Copyright 2026 The Go Authors. All rights reserved.
// Use of this source code is governed by a BSD-style
// license that can be found in the LICENSE file.

package why

// This file has sums for straight lines. They are merged without the points, so a CDF
// of any length is cut into lines in one pass.

// sums are what a regression needs of a set of points (x, y).
type sums struct {
	n, x, y       float64 // their number, and the means
	sxx, syy, sxy float64 // sums of squares and products of deviations from the means
}

// add adds a point (Welford, Note on a Method for Calculating Corrected Sums of Squares
// and Products, 1962).
func (s *sums) add(x, y float64) {
	s.n++
	dx, dy := x-s.x, y-s.y
	s.x += dx / s.n
	s.y += dy / s.n
	s.sxx += dx * (x - s.x)
	s.syy += dy * (y - s.y)
	s.sxy += dx * (y - s.y)
}

// merge returns the sums of the points of s and of t (Chan, Golub and LeVeque, Updating
// Formulae and a Pairwise Algorithm for Computing Sample Variances, 1979).
func (s sums) merge(t sums) sums {
	switch {
	case s.n == 0:
		return t
	case t.n == 0:
		return s
	}
	n := s.n + t.n
	dx, dy := t.x-s.x, t.y-s.y
	w := s.n * t.n / n
	return sums{
		n:   n,
		x:   s.x + dx*t.n/n,
		y:   s.y + dy*t.n/n,
		sxx: s.sxx + t.sxx + dx*dx*w,
		syy: s.syy + t.syy + dy*dy*w,
		sxy: s.sxy + t.sxy + dx*dy*w,
	}
}

// line returns the line of least squares. It is level if all x are the same.
func (s sums) line() (intercept, slope float64) {
	if s.sxx > 0 {
		slope = s.sxy / s.sxx
	}
	return s.y - slope*s.x, slope
}

// r2 returns the coefficient of determination of the points, under a line that need not
// be theirs: how much of their variance it explains. Points of one height have none; a
// line that meets them explains all, and one that does not, nothing.
func (s sums) r2(intercept, slope float64) float64 {
	d := s.y - intercept - slope*s.x
	sse := s.syy - 2*slope*s.sxy + slope*slope*s.sxx + s.n*d*d
	if s.syy == 0 {
		if sse <= 1e-18*s.n*s.y*s.y {
			return 1
		}
		return 0
	}
	return 1 - sse/s.syy
}

// proportion returns R² of a line through the origin (without the mean, which such a line
// need not meet: Kozak and Kozak, What does R² mean in regression through the origin,
// 1995, explain why the sum of squares is of y itself).
func (s sums) proportion() (slope, r2 float64) {
	xx := s.sxx + s.n*s.x*s.x
	yy := s.syy + s.n*s.y*s.y
	xy := s.sxy + s.n*s.x*s.y
	if xx == 0 || yy == 0 {
		return 0, 0
	}
	return xy / xx, xy * xy / (xx * yy)
}

// percentile returns the value below which the part p of sorted values is: that with the
// index int(p*n), as VarMRI's analyzer has it. It is the last one for p = 1.
func percentile(sorted []float64, p float64) float64 {
	return sorted[min(int(p*float64(len(sorted))), len(sorted)-1)]
}
