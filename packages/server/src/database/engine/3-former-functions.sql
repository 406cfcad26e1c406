-- Functions that no file of ../functions has any more, or with other arguments.
DROP FUNCTION IF EXISTS tally_covers(text, text[], text[], text[], text[]);
DROP FUNCTION IF EXISTS create_tally_function(text, text, text, text);
