import { globSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

/** The sentences that a template has of its own, outside its tags. */
function sentencesIn(template: string): string[] {
  const html = template.replace(/<%.*?%>/gs, ' ').replace(/<(script|style|code|time)\b.*?<\/\1>/gs, ' ')
  const attributes = [...html.matchAll(/\s(?:aria-label|title|placeholder|alt|data-label)="([^"]*)"/g)]
  const texts = [...html.replace(/<[^>]*>/g, '\n').split('\n'), ...attributes.map(([, text = '']) => text)]
  return texts.map((text) => text.trim()).filter((text) => /\p{L}{2,}/u.test(text))
}

test('a sentence in a template is found', () => {
  expect(sentencesIn('<p><%= it.a %></p>\n<p title="Not a text">Written here</p>')).toEqual([
    'Written here',
    'Not a text',
  ])
})

test('no template for users has a sentence of its own', () => {
  const forDevelopers = /^(sandbox|public|flow-inspector|setup)\//
  const views = fileURLToPath(new URL('../../views/', import.meta.url))
  for (const view of globSync('**/*.eta', { cwd: views }).filter((name) => !forDevelopers.test(name)))
    expect(sentencesIn(readFileSync(views + view, 'utf8')), view).toEqual([])
})
