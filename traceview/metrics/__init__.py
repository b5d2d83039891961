"""Metrics: functions from a Trace to a frame.

One module a question. A metric prints nothing, draws nothing, keeps nothing and calls no other
metric; what two of them need lies below: `busy`, `calls`, `owners`, `context`, `intervals`, ....
"""
