import { expect, test } from 'vitest'
import * as z from 'zod'
import { configurationPage, envExample } from '../../src/cli/settings-docs.ts'
import { flag, isProduction, list, megabytes, required } from '../../src/settings/fields.ts'
import { settingsGroup } from '../../src/settings/read.ts'

const settings = settingsGroup({
  variables: (env) => ({
    KEY: required('ask for it').meta({ description: 'A key.', sandbox: 'sandbox-key' }),
    HOSTS: list().meta({ description: 'Some hosts. Unset: none.', example: 'a.example,b.example' }),
    SIZE_MB: megabytes(20).meta({ description: 'The largest size | in megabytes.' }),
    SHOWN: flag(!isProduction(env)).meta({ description: 'Whether it is shown. See docs/deploy.md.' }),
    SECRET: (isProduction(env) ? z.string() : z.string().optional()).meta({ description: 'A secret.' }),
  }),
  build: (values) => values,
})
const features = [{ name: 'some-thing', settings }, { name: 'a-feature' }]

test('a feature has a section on the page, with the default that each schema has', () => {
  const [, section] = configurationPage(features).split('\n## Some thing\n\n')
  expect(section?.split('\n')).toEqual([
    '| Variable | Default | Meaning |',
    '| --- | --- | --- |',
    '| `KEY` | required | A key. |',
    '| `HOSTS` | unset | Some hosts. Unset: none. |',
    '| `SIZE_MB` | `20` | The largest size \\| in megabytes. |',
    '| `SHOWN` | `true`; in production `false` | Whether it is shown. See [docs/deploy.md](deploy.md). |',
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
    '# SECRET=',
  ])
})

test('a setting without a description is named', () => {
  const group = settingsGroup({
    variables: () => ({ OLD: z.string().optional() }),
    build: (values) => values,
  })
  expect(() => configurationPage([{ name: 'a-feature', settings: group }])).toThrow('OLD needs a description')
})
