import { existsSync, readFileSync } from 'node:fs'
import type { ConfigError, Finding } from '../../web/kit.ts'
import { warning } from './findings.ts'

/** What is wrong with the names and the values in `.env`. `unknown`: names that are no setting. */
export function checkEnvironment(unknown: readonly string[]): Finding[] {
  const cut = 'in .env, what follows the # in its value is a comment. Put the value in quotes'
  const noSetting = 'there is no setting of this name; .env.example lists them all'
  return [
    ...cutValues().map((setting) => warning('env-file', setting, cut)),
    ...unknown.map((setting) => warning('unknown-setting', setting, noSetting)),
  ]
}

/** The settings whose values a `#` cuts: in `.env`, it begins a comment unless the value is in quotes. */
function cutValues(): string[] {
  if (!existsSync('.env')) return []
  const lines = readFileSync('.env', 'utf8').matchAll(/^\s*(\w+)\s*=\s*[^\s"'`#][^"'`#\n]*[^\s"'`#]#/gm)
  return [...lines].map(([, setting = '']) => setting)
}

/** What is missing or invalid in the settings. */
export function settingsFindings({ problems }: ConfigError): Finding[] {
  const findings = problems.map((text): Finding => {
    const [setting = ''] = text.split(' ')
    return { id: 'settings', status: 'failure', text, setting }
  })
  if (existsSync('.env')) return findings
  const text =
    'settings: there is no .env in this folder. Run `cp .env.example .env`, and enter your credentials'
  return [{ id: 'settings', status: 'warning', text }, ...findings]
}
