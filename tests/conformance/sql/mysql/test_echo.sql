-- test_echo: every kind of value, there and back.
SELECT :text, :number, :real, :flag, :nothing, :bytes
