/** Decimals by BigInt alone, to compare with those of the app. */

/** A decimal as a whole number over a power of ten, by BigInt alone. */
export function exact(text: string): { digits: bigint; scale: number } {
  const [, mantissa = '', exponent = '0'] = /^([-\d.]+)(?:e([+-]?\d+))?$/i.exec(text) ?? []
  const [whole = '', fraction = ''] = mantissa.split('.')
  const scale = fraction.length - Number(exponent)
  const digits = BigInt(whole + fraction)
  return scale >= 0 ? { digits, scale } : { digits: digits * 10n ** BigInt(-scale), scale: 0 }
}

/** A number as a reader of decimals sees it, without zeros that mean nothing. */
export function plain(text: string): string {
  let { digits, scale } = exact(text)
  for (; scale > 0 && digits % 10n === 0n; scale--) digits /= 10n
  return `${digits}e-${scale}`
}

/** The best discount in cents, by BigInt alone. Amounts are whole numbers over 10 to the power of 40. */
export function bestCents(
  unitPrice: string,
  quantity: number,
  reductions: readonly { kind: string; value: string }[],
): bigint {
  const of = (text: string) => {
    const { digits, scale } = exact(text)
    return digits * 10n ** BigInt(40 - scale)
  }
  const one = 10n ** 40n
  const [unit, count] = [of(unitPrice), of(String(quantity))]
  const gross = (unit * count) / one
  const cent = one / 100n
  let best = 0n
  for (const { kind, value } of reductions) {
    const percent = (gross * of(value)) / one / 100n
    const perUnit = kind === 'price' ? unit - of(value) : of(value)
    const discount = kind === 'percent' ? percent : (perUnit * count) / one
    if (discount > best) best = discount
  }
  const rounded = (best + cent / 2n) / cent
  return rounded * cent > gross ? gross / cent : rounded
}
