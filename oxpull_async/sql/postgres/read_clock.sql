-- read_clock: the instant that statements of this session take for now.
SELECT :now
