"""What specialists found: files of approaches, and what people decided about them."""
