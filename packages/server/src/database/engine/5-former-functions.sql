-- Functions that have other arguments since the tally counts by cells.
DROP FUNCTION IF EXISTS tally_items(text);
DROP FUNCTION IF EXISTS tally_sums(text[], text, text);
DROP FUNCTION IF EXISTS tally_recount(tally_orders, boolean);
