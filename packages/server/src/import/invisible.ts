/** A character that is not seen: of control or format, without a width, or a space other than the usual one. */
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{DI}\u2800]|(?! )\p{Zs}/u;

/** What an identifier must be instead, because one sees it as another text; `undefined` if one sees all of it. */
export function mustBeSeen(identifier: string): string | undefined {
  const [invisible] = INVISIBLE.exec(identifier) ?? [];
  if (invisible !== undefined) {
    return `without ${codeOf(invisible)}, which is not seen (--allow-invisible takes it)`;
  }
  if (identifier.trim() === identifier) return undefined;
  return 'without white space at its ends (--allow-invisible takes it)';
}

/** A text in which one sees each character. */
export function withCodes(text: string): string {
  return text.replace(new RegExp(INVISIBLE, 'gu'), codeOf);
}

function codeOf(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
}
