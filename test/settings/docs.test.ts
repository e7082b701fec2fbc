import { expect, test } from 'vitest'
import * as z from 'zod'
import { configurationPage, envExample } from '../../src/cli/settings-docs.ts'
import { flag, isProduction, list, required, wholeNumber } from '../../src/settings/fields.ts'
import type { Environment } from '../../src/settings/read.ts'

const settings = (env: Environment) =>
  z.object({
    key: required('ask for it').meta({ variable: 'KEY', description: 'A key.', sandbox: 'sandbox-key' }),
    hosts: list().meta({
      variable: 'HOSTS',
      description: 'Some hosts. Unset: none.',
      example: 'a.example,b.example',
    }),
    size: wholeNumber({ min: 1, max: 99, default: 20 }).meta({
      variable: 'SIZE_MB',
      description: 'The largest size | in megabytes.',
    }),
    shown: flag(!isProduction(env)).meta({
      variable: 'SHOWN',
      description: 'Whether it is shown. See docs/deploy.md.',
    }),
    days: z.coerce.number().default(0).meta({ variable: 'DAYS', description: 'A number.' }),
    secret: (isProduction(env) ? z.string() : z.string().optional()).meta({
      variable: 'SECRET',
      description: 'A secret.',
    }),
  })
const features = [
  { name: 'some-thing', folder: 'some-thing', settings },
  { name: 'a-feature', folder: 'a-feature' },
]

test('a feature has a section on the page, with the default that each schema has', () => {
  const [, section] = configurationPage(features).split('\n## Some thing\n\n')
  expect(section?.split('\n')).toEqual([
    '| Variable | Default | Meaning |',
    '| --- | --- | --- |',
    '| `KEY` | required | A key. |',
    '| `HOSTS` | unset | Some hosts. Unset: none. |',
    '| `SIZE_MB` | `20` | The largest size \\| in megabytes. |',
    '| `SHOWN` | `true`; in production `false` | Whether it is shown. See [docs/deploy.md](deploy.md). |',
    '| `DAYS` | `0` | A number. |',
    '| `SECRET` | unset; in production required | A secret. |',
  ])
})

test('the example sets what the sandbox needs, and shows everything else in comments', () => {
  const [, section = ''] = envExample(features).split(/\n# --- Some thing -+\n\n/)
  expect(section.split('\n').filter((line) => line.includes('='))).toEqual([
    'KEY=sandbox-key',
    '# HOSTS=a.example,b.example',
    '# SIZE_MB=20',
    '# SHOWN=true',
    '# DAYS=0',
    '# SECRET=',
  ])
})

test('a setting without a description is named', () => {
  const group = () => z.object({ old: z.string().optional().meta({ variable: 'OLD' }) })
  expect(() => configurationPage([{ name: 'a-feature', folder: 'a-feature', settings: group }])).toThrow(
    'OLD needs a description',
  )
})
