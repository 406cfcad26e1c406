/**
 * A text that has the place of another one in the natural order, if such texts are compared by code point: without regard to
 * case, accents and punctuation, and with numbers of up to 100 digits compared as numbers. The service makes other keys, in SQL.
 */
export function naturalKey(text: string): string {
  const folded = text
    .normalize('NFKD')
    .replace(/[\u0300-\u036f]/g, '')
    .toLowerCase()
    .replace(/[øłđðħıŧς]/g, (letter) => 'olddhitσ'['øłđðħıŧς'.indexOf(letter)] ?? '')
    .replaceAll('ß', 'ss')
    .replaceAll('æ', 'ae')
    .replaceAll('œ', 'oe')
    .replaceAll('þ', 'th')
    .normalize('NFKC');
  const words = folded.split(/[^\p{L}\p{N}\p{M}]+/u).filter((word) => word !== '');
  return words.join(' ').replace(/[0-9]+/g, (digits) => digits.padStart(100, '0'));
}
