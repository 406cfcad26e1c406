/** What one euro is worth, in hundredths of the unit of the currency. */
const hundredthsPerEuro = { EUR: 100, USD: 110, GBP: 85, JPY: 16_000 } as const;

/**
 * A price as a shop would print it: a decimal string with the currency's own decimals (none for
 * JPY), and an ending that looks chosen (`19.90`, `249.00`, `3980`).
 */
export function priceOf(euroCents: number, currency: keyof typeof hundredthsPerEuro): string {
  const hundredths = Math.floor((euroCents * hundredthsPerEuro[currency]) / 100);
  if (currency === 'JPY') {
    const hundreds = Math.max(Math.floor(hundredths / 100_00), 1);
    return String(hundreds * 100 + (hundreds < 100 ? 80 : 0));
  }
  const units = Math.floor(hundredths / 100);
  if (units >= 200) return `${Math.floor(units / 10) * 10 + 9}.00`;
  return `${units}.${ending(units, hundredths % 100)}`;
}

function ending(units: number, cents: number): string {
  if (units < 10) return cents < 30 ? '29' : cents < 60 ? '49' : cents < 85 ? '79' : '99';
  return cents < 35 ? '00' : cents < 65 ? '50' : cents < 85 ? '90' : '95';
}
