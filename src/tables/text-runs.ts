import { type Attributes, attribute } from './xml.ts'

const SUPERSCRIPTS = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹']

/**
 * Shows parts of a cell's text that have a format of their own (ECMA-376 part 1, section 18.4.4): raised digits, as in
 * `m²`, and text that is struck out. Without that, `12` with raised cents would be 1250, and a new price beside the struck
 * old one a number of both.
 */
export function createRuns() {
  let isRaised = false
  let isStruck = false
  /** Of the text before. */
  let wasStruck = false
  return {
    open(name: string, attributes: Attributes): void {
      if (name === 'vertAlign') isRaised = attribute(attributes, 'val') === 'superscript'
      else if (name === 'strike') isStruck = !/^(0|false)$/.test(attribute(attributes, 'val') ?? '')
    },
    close(name: string): void {
      if (name !== 'r') return
      isRaised = false
      isStruck = false
    },
    /** A text of the current part, which follows `before`. */
    shown(text: string, before: string): string {
      const raised = isRaised ? text.replace(/\d/g, (digit) => SUPERSCRIPTS[Number(digit)] ?? '') : text
      const isApart = before !== '' && isStruck !== wasStruck
      wasStruck = isStruck
      return isApart ? ` / ${raised}` : raised
    },
  }
}
