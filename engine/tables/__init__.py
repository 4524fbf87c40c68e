"""Contingency tables: rows folded, counted once, kept, and sampled without replacement.

Every statistic of discrete data is a function of a small table of counts. Rows are folded to their
distinct values with a weight each; a query's table is one pass over contiguous columns; counts
are kept within a memory bound for later draws, budgets and algorithms.
"""
