"""`porch mcp`: the commands that agents may call, as tools of the Model Context Protocol."""
