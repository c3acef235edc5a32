// Package chart has what the plots of the reports have in common: a column of plots with
// one legend and a note that says where the figures come from, lines that can be told
// apart in print and by the colour-blind, and marks at round numbers.
package chart
