// What mdBook leaves out for people who use a keyboard or a screen reader.
(() => {
    // Blocks and tables that scroll can be reached, and scrolled with the arrow keys.
    const reachable = () => document.querySelectorAll('main pre > code, main table').forEach(block => {
        if (block.scrollWidth > block.clientWidth) block.tabIndex = 0;
        else block.removeAttribute('tabindex');
    });
    addEventListener('load', reachable);
    addEventListener('resize', reachable);
    // The label that opens the sidebar acts as a button, and says so.
    document.getElementById('mdbook-sidebar-toggle')?.setAttribute('role', 'button');
    // A sidebar that is hidden cannot be reached.
    const sidebar = document.getElementById('mdbook-sidebar');
    if (sidebar) {
        const hide = () => { sidebar.inert = sidebar.getAttribute('aria-hidden') === 'true'; };
        new MutationObserver(hide).observe(sidebar, {attributeFilter: ['aria-hidden']});
        hide();
    }
})();
