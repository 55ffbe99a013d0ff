"""The proof that oxpull-async keeps its promises."""
