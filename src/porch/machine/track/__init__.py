"""The rules of a track: what is settled before anybody comes to it, and what people take back."""
