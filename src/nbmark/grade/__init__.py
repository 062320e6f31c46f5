"""Marks a folder of submissions: ``python -m nbmark grade FOLDER --out GRADES``.

`stage` copies what was handed in, `owners` says who handed it in, `plan` which exercise it answers
and which of several counts; `executors` marks, each submission by `nbmark.mark_one`, `journal`
keeps what is known, and the reports are written from that.
"""
