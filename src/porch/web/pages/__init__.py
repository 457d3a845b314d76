"""What each page says: values in, the context of a template out; nothing is read or written."""
