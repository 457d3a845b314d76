"""Questions for people: one object, shown in many ways, and every reply to it read by one rule."""
