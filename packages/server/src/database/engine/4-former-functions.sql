-- Functions that part_triggers and install_triggers replace.
DROP FUNCTION IF EXISTS has_trigger(regclass, text, text, text, "char");
DROP FUNCTION IF EXISTS install_trigger(regclass, text, text, text);
