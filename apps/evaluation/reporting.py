"""Reports: a document built from plain values, written as one self-contained HTML file or as Markdown. No Django.

`document` holds the parts of a report, `html` and `markdown` write them, `charts` draws what they show; `scored`,
`compared` and `released` say what stands in the report of scores, of a comparison and of a release.
"""
