import type { Step, Topic } from './flow.ts'

type Page = Pick<Step, 'topic' | 'to' | 'title'>

/** The platform's page that the browser shows after each of these steps. */
const PAGES: Partial<Record<Topic, Page>> = {
  to_start_page: {
    topic: 'platform_start',
    to: 'web_application',
    title: "The platform's login and start page: not visible to this app",
  },
  to_consent_page: {
    topic: 'platform_consent',
    to: 'identity_provider',
    title: "The platform's consent page: not visible to this app",
  },
}

/** Adds a step for each visit to the platform's pages, which this app cannot see. */
export const withPlatformPages = (steps: readonly Step[], now = Date.now()): Step[] =>
  steps.flatMap((step, index): Step[] => {
    const page = PAGES[step.topic]
    if (!page) return [step]
    const { at } = step
    const back = steps.slice(index + 1).find(({ from }) => from === 'browser')
    const ms = (back ? Date.parse(back.at) : now) - Date.parse(at)
    const [url] =
      step.response?.headers.flatMap(({ name, value }) => (name === 'location' ? value : [])) ?? []
    const parameters = step.response?.parameters ?? []
    const request = url === undefined ? {} : { request: { method: 'GET', url, headers: [], parameters } }
    return [step, { at, ms: Math.max(0, ms), from: 'browser', ...page, ...request }]
  })
