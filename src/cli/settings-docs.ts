/** Writes the sections of docs/configuration.md and .env.example from the descriptions of the settings. */
import { existsSync } from 'node:fs'
import { posix } from 'node:path'
import * as z from 'zod'
import { groupOf } from '../features/folders.ts'
import type { NamedFeature } from '../features/load.ts'
import {
  apiSettings,
  generalSettings,
  oauthSettings,
  oidcSettings,
  sandboxAddressSettings,
  serverSettings,
  sessionSettings,
  storeSettings,
} from '../settings/config.ts'
import { type SettingsGroup, variablesOf } from '../settings/read.ts'
import { table } from './markdown.ts'

const ROOT = new URL('../../', import.meta.url)

/** The parts of a feature that describe its settings. */
type Described = Pick<NamedFeature, 'name' | 'folder' | 'settings'>

interface Section {
  heading: string
  introduction?: string
  groups: readonly SettingsGroup[]
}

const CORE: readonly Section[] = [
  { heading: 'The app', groups: [generalSettings, serverSettings] },
  { heading: 'Sessions and sign-in', groups: [sessionSettings, oidcSettings] },
  { heading: 'Storage', groups: [storeSettings] },
  {
    heading: 'The platform',
    introduction:
      "The platform's support team gives you these when they register your app. Outside production, an app that has `SANDBOX_PORT` and none of the three addresses uses the sandbox there.",
    groups: [oauthSettings, apiSettings],
  },
  {
    heading: 'The sandbox',
    introduction:
      '`npm run demo` and `npm run sandbox` read these settings, and so does the app if it uses the sandbox. So you change a port in one place.',
    groups: [sandboxAddressSettings],
  },
]

/** A section for each feature that has settings, in alphabetical order. */
function sectionsOf(features: readonly Described[]): Section[] {
  const sorted = features.toSorted((a, b) => a.name.localeCompare(b.name, 'en'))
  return sorted.flatMap(({ name, folder, settings }) => {
    const page = `docs/${folder}.md`
    const heading = name.charAt(0).toUpperCase() + name.slice(1).replaceAll('-', ' ')
    const introduction = existsSync(new URL(page, ROOT)) ? { introduction: `See ${page}.` } : {}
    return settings ? [{ heading, ...introduction, groups: [settings] }] : []
  })
}

/** The `.meta` at the end of a setting's schema. */
const metaSchema = z.object({
  /** Markdown without links. It names a page by its path, such as docs/deploy.md. */
  description: z.string(),
  example: z.string().optional(),
  /** The value that works with `npm run sandbox`. */
  sandbox: z.string().optional(),
  /** The default, as you would type it. */
  default: z.coerce.string().optional(),
})

interface Setting extends z.output<typeof metaSchema> {
  name: string
  /** Its default, in Markdown. */
  fallback: string
}

function settingsOf(group: SettingsGroup): Setting[] {
  const inProduction = new Map(variablesOf(group({ NODE_ENV: 'production' })))
  return variablesOf(group({})).map(([name, schema]) => {
    const meta = metaSchema.safeParse(jsonSchemaOf(schema))
    if (!meta.success)
      throw new Error(`${name} needs a description: end its schema with .meta({ description: '…' })`)
    const usual = fallbackOf(schema)
    const production = fallbackOf(inProduction.get(name) ?? schema)
    const differs = production === usual ? '' : `; in production ${production}`
    return { name, fallback: `${usual}${differs}`, ...meta.data }
  })
}

const jsonSchemaOf = (schema: z.core.$ZodType) =>
  z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' })

/** Returns `required`, `unset`, or the default. */
function fallbackOf(schema: z.core.$ZodType): string {
  if (!z.safeParse(schema, undefined).success) return 'required'
  const { default: typed } = metaSchema.pick({ default: true }).parse(jsonSchemaOf(schema))
  return typed ? `\`${typed}\`` : 'unset'
}

/** The sections of docs/configuration.md, or of a group's docs/GROUP/configuration.md. */
export function configurationPage(features: readonly Described[], group?: string): string {
  const ofPage = sectionsOf(features.filter(({ folder }) => groupOf(folder) === group))
  const sections = (group === undefined ? [...CORE, ...ofPage] : ofPage).map(
    ({ heading, introduction, groups }) => {
      const rows = groups
        .flatMap(settingsOf)
        .map(({ name, fallback, description }) => [`\`${name}\``, fallback, linked(description, group)])
      const text = introduction ? [linked(introduction, group)] : []
      return [`## ${heading}`, ...text, table(['Variable', 'Default', 'Meaning'], rows)].join('\n\n')
    },
  )
  return sections.join('\n\n')
}

/** Turns paths such as `docs/deploy.md` into links, for a page in `docs` or in a group's folder there. */
const linked = (text: string, group = '') =>
  text.replaceAll(
    /docs\/[\w/-]+\.md/g,
    (path) => `[${path}](${posix.relative(posix.join('docs', group), path)})`,
  )

/** The sections of .env.example. */
export function envExample(features: readonly Described[]): string {
  const sections = [...CORE, ...sectionsOf(features)].map(({ heading, introduction, groups }) =>
    [
      `# ${`--- ${heading} `.padEnd(100, '-')}`,
      ...(introduction ? [comment(introduction)] : []),
      '',
      groups
        .flatMap(settingsOf)
        .map((setting) => `${comment(setting.description)}\n${assignment(setting)}`)
        .join('\n\n'),
    ].join('\n'),
  )
  return sections.join('\n\n')
}

const assignment = ({ name, sandbox, default: typed, example }: Setting) =>
  sandbox === undefined ? `# ${name}=${example ?? typed ?? ''}` : `${name}=${sandbox}`

/** Wraps a comment at 100 characters without splitting words. */
const comment = (text: string) =>
  text
    .replaceAll('`', '')
    .replaceAll(/(.{1,98})(?: |$)/g, '# $1\n')
    .trimEnd()
