-- now: the one instant of a statement, in Django's text form; the test kit moves it by clock_offset seconds.
(strftime('%Y-%m-%d %H:%M:%f', 'now', :clock_offset || ' seconds') || '000')
