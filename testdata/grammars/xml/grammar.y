// A small XML: five elements that must match by nesting, attributes, text, empty elements.
%start Document
%%
Document: Element;
Element: '<html' Attributes '>' Content '</html>' | '<html' Attributes '/>'
       | '<body' Attributes '>' Content '</body>' | '<body' Attributes '/>'
       | '<p' Attributes '>' Content '</p>' | '<p' Attributes '/>'
       | '<b' Attributes '>' Content '</b>' | '<b' Attributes '/>'
       | '<i' Attributes '>' Content '</i>' | '<i' Attributes '/>';
Attributes: | Attributes 'NAME' '=' 'VALUE';
Content: | Content 'TEXT' | Content 'NAME' | Content '=' | Content 'VALUE' | Content Element;
