/**
 * The words of a page that are neither in a file of texts (`marked-texts.ts` replaces those with marks) nor data. Data are code,
 * times, and the strings in `data`.
 */
export function unmarkedWords(html: string, data: readonly string[]): string[] {
  const attributes = [
    ...html.matchAll(/\s(?:aria-label|title|placeholder|alt|content|data-label)="([^"]*)"/g),
  ]
    .map(([, text]) => text)
    .filter((text) => !/^(width=|light dark|\d+; url=)/.test(text ?? ''))
  const page = html.replace(/<(script|style|code|time)\b.*?<\/\1>/gs, ' ').replace(/<meta[^>]*>/g, ' ')
  let text = [page.replace(/<[^>]*>/g, '\n'), ...attributes]
    .join('\n')
    .replace(/&#39;/g, "'")
    .replace(
      /&(quot|lt|gt|amp);/g,
      (_, name) => ({ quot: '"', lt: '<', gt: '>', amp: '&' })[name as string] ?? '',
    )
  while (/⟦[^⟦⟧]*⟧/.test(text)) text = text.replace(/⟦[^⟦⟧]*⟧/g, '\n')
  const known = data
    .flatMap((value) => value.split('⟦⟧'))
    .filter((value) => /\p{L}/u.test(value))
    .flatMap((value) => [value, value.charAt(0).toUpperCase() + value.slice(1)])
    .sort((a, b) => b.length - a.length)
  for (const value of known) text = text.replaceAll(value, '\n')
  return text
    .replace(/\d{1,2} \w{3,4} \d{4}/g, '')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => /\p{L}{2,}/u.test(line))
}
