import { basename } from 'node:path'
import { expect, test } from 'vitest'
import { isBelow, placesOf } from '../../src/cli/removal.ts'
import { groupOf, groupsOf } from '../../src/features/folders.ts'
import { loadFeatures } from '../../src/features/load.ts'
import { variablesOf } from '../../src/settings/read.ts'
import { files, read } from '../support/documents.ts'

const features = await loadFeatures()

/** Files that test or describe the starter with all its features, or are generated from its features. */
const EXEMPT =
  /^(test\/(starter|real|bench|gallery)\/|docs\/(assumptions|demo|specification)\.md|CHANGELOG\.md|package-lock\.json)/
const TEXTS = '**/*.{ts,cjs,js,css,eta,md,json,yaml,yml,grit}'

/** The names of a group's features, commands of two words (the others follow the feature's name), and settings. */
function namesOf(group: string): string[] {
  const members = features.filter(({ folder }) => groupOf(folder) === group)
  const commands = members
    .flatMap(({ folder }) => files(`src/features/${folder}/cli-*.ts`))
    .map((file) => basename(file, '.ts').replace('cli-', ''))
  const settings = members
    .flatMap((member) => member.settings?.({}) ?? [])
    .flatMap((fields) => variablesOf(fields).map(([variable]) => variable))
  return [...members.map(({ name }) => name), ...commands.filter((name) => name.includes('-')), ...settings]
}

// So you can delete a group without traces in the rest of the project.
test('no file outside a group names one of its features, commands or settings', () => {
  const all = [
    ...files(`{src,views,test,docs,.github}/${TEXTS}`),
    ...files('{*.{md,json,yaml},Dockerfile,.ci/run}'),
  ].filter((file) => !EXEMPT.test(file))
  const wrong = groupsOf(features.map(({ folder }) => folder)).flatMap((group) => {
    const names = namesOf(group).map((name) => ({ name, word: new RegExp(`(?<![\\w-])${name}(?![\\w-])`) }))
    names.push({ name: `a folder of ${group}`, word: new RegExp(`features/${group}/`) })
    const places = features
      .filter(({ folder }) => groupOf(folder) === group)
      .flatMap(({ name }) => placesOf(name, [group]))
      .concat(placesOf(group, []))
    return all
      .filter((file) => !isBelow(file, places))
      .flatMap((file) => {
        const text = read(file)
        return names.filter(({ word }) => word.test(text)).map(({ name }) => `${file}: ${name}`)
      })
  })
  expect(wrong).toEqual([])
})
