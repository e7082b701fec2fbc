import { existsSync, readFileSync } from 'node:fs'
import { parseEnv } from 'node:util'
import type { ConfigError, Finding } from '../../web/feature-api.ts'
import { warning } from './findings.ts'

/** Finds problems with the names and values in `.env`. `unknown`: names that look like settings, but aren't. */
export function checkEnvironment(unknown: readonly string[]): Finding[] {
  const noSetting = 'there is no setting of this name; .env.example lists them all'
  return [
    ...(existsSync('.env') ? changedValues(readFileSync('.env', 'utf8')) : []),
    ...unknown.map((setting) => warning('unknown-setting', setting, noSetting)),
  ]
}

/** Finds settings whose value differs from what their line in `.env` (`text`) suggests, because of a `#`, a quote or a `\n`. */
export function changedValues(text: string): Finding[] {
  const read = parseEnv(text.replace(/^\uFEFF/, ''))
  const lines = text.matchAll(/^\uFEFF?[ \t]*(?:export[ \t]+)?([\w.-]+)[ \t]*=(.*)$/gm)
  // If a name occurs twice, the last line counts.
  const written = new Map([...lines].map(([, name = '', value = '']) => [name, meant(value)]))
  return [...written].flatMap(([name, value]) => {
    if (read[name] === undefined || read[name] === value) return []
    const text =
      'in .env, a # or a quote changes its value, which is not read as it stands. Put it in quotes that it does not contain: \', " or `'
    return [warning('env-file', name, text)]
  })
}

/** The intended value of a line, without surrounding quotes and without a comment, which begins after a space. */
function meant(line: string): string {
  const [, , quoted] = /^\s*(["'`])(.*)\1\s*(?:\s#.*)?$/.exec(line) ?? []
  return quoted ?? line.replace(/\s#.*$/, '').trim()
}

/** Lists the missing and invalid settings. */
export function settingsFindings({ problems }: ConfigError): Finding[] {
  return problems.map((text): Finding => {
    const [setting = ''] = text.split(' ')
    return { id: 'settings', status: 'failure', text, setting }
  })
}
