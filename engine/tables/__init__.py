"""Contingency tables: rows are folded, counted once, stored, and sampled without replacement.

Every statistic of discrete data is a function of a small table of counts. Rows are folded to their
distinct values, each with a weight. A query's table takes one pass over contiguous columns. Counts
are kept within a memory limit for later draws, budgets and algorithms.
"""
