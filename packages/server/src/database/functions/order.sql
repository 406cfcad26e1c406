-- The key of a text in the order that people expect: without regard to case, accents and punctuation, and with numbers in it
-- compared as numbers. Keys are compared byte by byte, and stored (`@NaturalOrder`). After a change of this function, or of
-- search_text, a migration drops and adds these columns, and adds a version of the resource.
--
-- A number of two digits or more has its length before it, as a character between the digits and the letters: ':' for two,
-- ';' for three, up to '_' for 39; each '`' before it adds 38. So '9 mm' comes before '10 mm', which has the key ':10 mm'. No
-- folded text has these characters. Zeros before a number are left out.
CREATE OR REPLACE FUNCTION natural_order(text) RETURNS text LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE AS $$
DECLARE
  folded text := search_text($1);
  key text := '';
  number text;
  place integer;
  longer integer;
BEGIN
  LOOP
    number := substring(folded FROM '[0-9]{2,}');
    EXIT WHEN number IS NULL OR length(key) >= 500;
    place := strpos(folded, number);
    key := key || left(folded, place - 1);
    folded := substr(folded, place + length(number));
    number := coalesce(nullif(ltrim(number, '0'), ''), '0');
    longer := length(number) - 2;
    IF longer >= 0 THEN key := key || repeat('`', longer / 38) || chr(58 + longer % 38); END IF;
    key := key || number;
  END LOOP;
  RETURN left(key || folded, 500);
END $$;

-- A restore has an empty search path. This one is that of the triggers of words: for a function that is called under two of
-- them in turn, as search_text would be, PostgreSQL plans each of its expressions anew.
DO $$ BEGIN
  EXECUTE format('ALTER FUNCTION natural_order(text) SET search_path = %I, pg_temp', current_schema());
END $$;
