import type { Registration } from './registration.ts'

/** A part of the sheet. */
interface Section {
  level: 1 | 2 | 3
  title: string
  paragraphs?: string[]
  items?: string[]
  isNumbered?: boolean
}

const IMPORTANCE = [
  'Nothing works if these are wrong',
  'Something does not work',
  'Something is missing or less convenient',
]

/** The parts of the sheet; code is between backticks. */
function sectionsOf(registration: Registration): Section[] {
  const { appName, logoUrl, warnings, environments, scopes, answers, questions } = registration
  const checks = (texts: string[]) => texts.map((text) => `Check: ${text}`)
  return [
    {
      level: 1,
      title: `Registration of ${appName}`,
      paragraphs: ['Delegated OAuth access for a third-party integration (specification 5.3).'],
      items: [
        `Application name, as shown on the consent page: ${appName}`,
        `Logo: ${logoUrl ?? 'none'}`,
        ...checks(warnings),
      ],
    },
    {
      level: 2,
      title: 'Redirect URLs',
      paragraphs: [
        'The first of each pair receives the bxcontext, the second the code. Neither has a query string.',
      ],
    },
    ...environments.map(
      ({ name, urls, warnings: problems }): Section => ({
        level: 3,
        title: name,
        items: [...urls.map((url) => `\`${url}\``), ...checks(problems)],
      }),
    ),
    {
      level: 2,
      title: 'Scopes',
      items: scopes.map(
        ({ name, reasons }) => `\`${name}\`: ${reasons.join('; ') || 'no feature of this app uses it'}`,
      ),
    },
    {
      level: 2,
      title: 'Please send us',
      items: answers.map(({ what, setting }) => what + (setting && ` (\`${setting}\`)`)),
    },
    {
      level: 2,
      title: 'Please confirm or correct',
      paragraphs: ['The specification does not show these. The most important ones come first.'],
    },
    ...IMPORTANCE.map(
      (title, index): Section => ({
        level: 3,
        title,
        isNumbered: true,
        items: questions
          .filter(({ importance }) => importance === index + 1)
          .map(({ topic, assumed, id }) => `${topic}. We assume: ${assumed} (\`${id}\`)`),
      }),
    ),
  ]
}

/** The registration as Markdown, for a ticket. */
export function toMarkdown(registration: Registration): string {
  const parts = sectionsOf(registration).map(({ level, title, paragraphs = [], items = [], isNumbered }) => {
    const list = items.map((item, index) => `${isNumbered ? `${index + 1}.` : '-'} ${item}`).join('\n')
    return [`${'#'.repeat(level)} ${title}`, ...paragraphs, list].filter(Boolean).join('\n\n')
  })
  return `${parts.join('\n\n')}\n`
}

/** The registration as plain text, for a terminal or an email. */
export function toText(registration: Registration): string {
  const plain = (text: string) => text.replaceAll('`', '')
  const parts = sectionsOf(registration).map(({ level, title, paragraphs = [], items = [], isNumbered }) => {
    const heading =
      level === 3 ? `${plain(title)}:` : `${plain(title)}\n${(level === 1 ? '=' : '-').repeat(title.length)}`
    const list = items.map((item, index) => `${isNumbered ? `${index + 1}.` : '-'} ${plain(item)}`).join('\n')
    return [heading, ...paragraphs, list].filter(Boolean).join('\n')
  })
  return parts.join('\n\n')
}
