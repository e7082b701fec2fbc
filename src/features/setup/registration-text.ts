import type { Registration } from './registration.ts'

/** The registration as Markdown, for a ticket. */
export function toMarkdown(registration: Registration): string {
  const { appName, logoUrl, environments, scopes, answers, questions } = registration
  const urls = environments.flatMap(({ name, urls, warnings }) => [
    `### ${name}`,
    '',
    ...urls.map((url) => `- \`${url}\``),
    ...warnings.map((warning) => `- **Check:** ${warning}`),
    '',
  ])
  return `# Registration of ${appName}

Delegated OAuth access for a third-party integration (specification 5.3).

- Application name, as shown on the consent page: ${appName}
- Logo: ${logoUrl ?? 'none'}

## Redirect URLs

The first of each pair receives the bxcontext, the second the code. Neither has a query string.

${urls.join('\n')}
## Scopes

${scopes.map(({ name, reasons }) => `- \`${name}\`: ${reasons.join('; ') || 'no feature of this app uses it'}`).join('\n')}

## Please send us

${answers.map(({ what, setting }) => `- ${what}${setting && ` (\`${setting}\`)`}`).join('\n')}

## Please confirm or correct

The specification does not show these. The most important ones come first.

${questions.map(({ topic, assumed, id }, index) => `${index + 1}. **${topic}.** We assume: ${assumed} (\`${id}\`)`).join('\n')}
`
}

/** The registration as plain text, for a terminal or an email. */
export function toText(registration: Registration): string {
  return toMarkdown(registration)
    .replace(/^(#+) (.*)$/gm, (_line, level: string, title: string) =>
      level.length === 3 ? `${title}:` : `${title}\n${(level.length === 1 ? '=' : '-').repeat(title.length)}`,
    )
    .replace(/\*\*(.*?)\*\*/g, '$1')
    .replaceAll('`', '')
}
