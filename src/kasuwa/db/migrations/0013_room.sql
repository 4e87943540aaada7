-- A transaction and its hold are written a second time moments after the first. Where their page has room for that, no
-- index hears of it and there is nothing to sweep; at 70 and 80 two in five and one in five had to move.
alter table transaction set (fillfactor = 50);
alter table hold set (fillfactor = 50);

-- Giving the end of the file back locks everybody out for a moment, and the room is wanted again at once.
alter table job set (vacuum_truncate = false);
