"""Bytes on disk: one format a file, its writer and reader side by side."""
