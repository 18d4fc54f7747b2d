/** A button that opens a short list of links. Chosen, left or Escape: it closes. */
import { Icon } from './icons.tsx'
import type { ComponentChildren } from 'preact'
import { useRef } from 'preact/hooks'

interface MenuProps {
  title: string
  /** Called each time that it opens: for what is loaded only then. */
  onOpen?: () => void
  children: ComponentChildren
}

export function Menu({ title, onOpen, children }: MenuProps) {
  const menu = useRef<HTMLDetailsElement>(null)
  const close = (): void => {
    if (menu.current !== null) menu.current.open = false
  }
  const onLeave = ({ relatedTarget }: FocusEvent): void => {
    // Null: the mouse went down on what takes no focus, which may be the menu itself.
    if (relatedTarget !== null && menu.current?.contains(relatedTarget as Node) === false) close()
  }
  const onKey = ({ key }: KeyboardEvent): void => {
    if (key !== 'Escape') return
    close()
    menu.current?.querySelector('summary')?.focus()
  }
  return (
    <details
      class="menu"
      ref={menu}
      onToggle={({ currentTarget }) => currentTarget.open && onOpen?.()}
      onFocusOut={onLeave}
      onKeyDown={onKey}
    >
      <summary class="button">
        {title} <Icon name="down" />
      </summary>
      <div class="menu-items" onClick={close}>
        {children}
      </div>
    </details>
  )
}
