import { fileURLToPath } from 'node:url'
import { Eta } from 'eta'
import type { RequestHandler } from 'express'
import { currentUser } from './sign-in.ts'

declare module 'express-serve-static-core' {
  interface Response {
    /** Renders a page of `views/app` inside its layout. */
    page(view: string, data: { title: string } & Record<string, unknown>): void
  }
}

const views = fileURLToPath(new URL('../../views/app', import.meta.url))

/** Gives every response `page()`. Templates escape what they print. */
export function pages(production: boolean): RequestHandler {
  const eta = new Eta({ views, cache: production })
  return (req, res, next) => {
    res.page = (view, data) => {
      const html = eta.render(`./${view}`, { user: currentUser(req), ...format, ...data })
      res.type('html').send(html)
    }
    next()
  }
}

const format = {
  /** A time in words, such as "21 Nov 2026, 7:15 am UTC"; what is no time is shown as it came. */
  time: (value: string) => words(value, { dateStyle: 'medium', timeStyle: 'short' }, ' UTC'),
  date: (value: string) => words(value, { dateStyle: 'medium' }),
  segment: encodeURIComponent,
}

function words(value: string, style: Intl.DateTimeFormatOptions, suffix = ''): string {
  const date = new Date(value)
  return Number.isNaN(date.getTime())
    ? value
    : date.toLocaleString('en-AU', { ...style, timeZone: 'UTC' }) + suffix
}
