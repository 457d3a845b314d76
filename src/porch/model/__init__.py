"""What a protocol is: states, actors, exits, edges; nothing here runs anything."""
