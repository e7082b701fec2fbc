/** The measurements of a page in a window. */
import type { Page } from 'playwright-core'

export interface Measures {
  /** The number of `h1` headings. */
  headings: number
  /** The top of the heading, less the height of a notice above it, because only one page has a notice. */
  top: number
  /** Where the header, the heading, and the blocks below it begin, each with an example. */
  edges: string[]
  /** The visible primary actions. */
  primary: string[]
  /** How much wider than the window the page is. */
  overflow: number
  /** Whether it is a page with the app's header, and not the presenter or a page of the sandbox. */
  isOurs: boolean
}

/** Measures the page that is open. All lengths are in CSS pixels. */
export const measure = async (page: Page): Promise<Measures> =>
  (await page.evaluate(`(() => {
    scrollTo(0, 0)
    const seen = (selector) => [...document.querySelectorAll(selector)].filter((element) => element.checkVisibility())
    const boxOf = (element) => element.getBoundingClientRect()
    const headings = seen('h1')
    const notices = document.querySelector('#notices')
    const blocks = seen('.brand, h1, main > *, main > section > *, #live > *, .foot > *')
      .filter((element) => boxOf(element).width > 1 && getComputedStyle(element).position !== 'absolute')
    const edges = new Map(blocks.map((element) => [Math.round(boxOf(element).left), element]))
    const inCard = (element) => element.parentElement.closest('.card') !== null
    for (const [left, element] of edges) if (inCard(element)) edges.delete(left)
    return {
      headings: headings.length,
      top: headings.length > 0 ? Math.round(boxOf(headings[0]).top - (notices ? boxOf(notices).height : 0)) : 0,
      edges: [...edges].map(([left, { tagName, className }]) => left + ' (' + tagName.toLowerCase() + ' ' + className + ')'),
      primary: seen('.primary').map(({ textContent }) => textContent.trim()),
      overflow: document.documentElement.scrollWidth - innerWidth,
      isOurs: notices !== null,
    }
  })()`)) as Measures
