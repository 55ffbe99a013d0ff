-- test_echo: every kind of value, there and back.
SELECT :text::text, :number::bigint, :real::float8, :flag::boolean, :nothing::text, :bytes::bytea
