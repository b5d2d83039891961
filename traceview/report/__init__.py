"""Reports: frames -> Document. A report picks, orders and words; it computes no metric.

pandas stops here: what a Document holds are plain integers, ratios and texts.
"""
