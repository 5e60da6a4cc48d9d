"""The answers of a kernel process to JupyterLab's extension: completion, marks in the editor, targets, templates.

`extension_rpc` answers its questions; each other module is one subject of them.
"""
